"""Functions with many outputs: Jacobians and fits, beside SciPy, with the bars that they have to pass.

Run: python -m benchmarks.vectors [--instances 20] [--only jacobian,fit,losses,claims,epanet] [--out FILE]
"""
