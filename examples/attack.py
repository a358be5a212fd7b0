"""Change few pixels of a picture until a classifier sees another digit, by its answers alone.

The classifier is trained here on scikit-learn's digits, enlarged to 32 × 32:
1,024 pixels. Only its probabilities are seen. `groups=(4, 4)` says that
neighbouring pixels belong together: blocks of them are moved first.

Run: python examples/attack.py   (writes out/attack.png; needs scikit-learn)
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
from sklearn.datasets import load_digits
from sklearn.svm import SVC

import gracezo

mpl.use("Agg")
import matplotlib.pyplot as plt


def main(out: Path = Path("out"), picture: int = 3, trained_on: int = 1000) -> gracezo.Result:
    images, labels = load_digits(return_X_y=True)
    images = np.kron(images.reshape(-1, 8, 8) / 16.0, np.ones((4, 4))).reshape(-1, 1024)
    classifier = SVC(gamma=3e-3, C=10.0).fit(images[100 : 100 + trained_on], labels[100 : 100 + trained_on])
    image, label = images[picture].reshape(32, 32), labels[picture]

    def margin(x: np.ndarray) -> float:
        """By how much the right digit is ahead of any other: below zero it is taken for another."""
        scores = classifier.decision_function(x.reshape(1, -1))[0]
        return float(scores[label] - np.delete(scores, label).max())

    bounds = [(0.0, 1.0)] * image.size
    result = gracezo.minimize(
        margin, image, bounds=bounds, groups=(4, 4), target=-1e-3, max_queries=1000, seed=0
    )
    print(result)
    seen = classifier.predict(result.x.reshape(1, -1))[0]
    pictures = {f"a {label}": image, f"taken for a {seen}": result.x, "the difference": result.x - image}
    draw(pictures, f"{len(result.support)} of 1,024 pixels changed, {result.nfev} queries", out)
    return result


def draw(pictures: dict[str, np.ndarray], heading: str, out: Path) -> None:
    figure, axes = plt.subplots(1, 3, figsize=(10, 3.8), layout="constrained")
    for axis, (title, picture) in zip(axes, pictures.items(), strict=True):
        difference = title == "the difference"
        axis.imshow(picture, cmap="RdBu" if difference else "gray", vmin=-1 if difference else 0, vmax=1)
        axis.set(title=title, xticks=[], yticks=[])
    figure.suptitle(heading)
    out.mkdir(parents=True, exist_ok=True)
    figure.savefig(out / "attack.png", dpi=120)
    plt.close(figure)


if __name__ == "__main__":
    main()
