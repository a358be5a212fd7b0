"""Functions with many outputs: Jacobians and fits, beside SciPy, with the bars that they have to pass.

Run: python -m benchmarks.vectors [--instances 20] [--first SEED] [--out FILE] [--only
jacobian,batch,large,coverage,fit,losses,claims,epanet,cobra]
"""
