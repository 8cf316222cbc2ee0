"""Images of words, upright or upside down, for the network that tells a text's direction.

Pillow renders words of letters and digits with its own font, from a seed, in several sizes and
brightnesses, slightly turned, blurred and noisy. The network gets the images as its package
prepares them: 48 rows, at most 192 columns, numbers from -1 to 1, zeros to the right.
"""

from __future__ import annotations

import string

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

ROWS, COLUMNS = 48, 192
LETTERS = string.ascii_letters + string.digits
WORDS = (3, 12)  # letters of a word, at least and at most
SIZES = (20, 44)  # of the font, in pixels
BLUR, NOISE, TURN = 1.0, 14.0, 3.0  # at most: radius, standard deviation, degrees


def images(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return `count` inputs of the network, and their classes: 0 is upright, 1 is upside down.

    The inputs are float32 of shape (count, 3, 48, 192).
    """
    random = np.random.default_rng(seed)
    classes = random.integers(0, 2, count)
    rows = [_prepared(_rendered(random), bool(turned)) for turned in classes]
    return np.stack(rows), classes


def _rendered(random: np.random.Generator) -> Image.Image:
    """Return an image of a word, grey, with a margin."""
    length = int(random.integers(WORDS[0], WORDS[1] + 1))
    word = "".join(random.choice(list(LETTERS), length))
    font = ImageFont.load_default(float(random.integers(SIZES[0], SIZES[1] + 1)))
    left, top, right, bottom = (int(side) for side in font.getbbox(word))
    margin = [int(side) for side in random.integers(1, 9, 4)]
    size = (right - left + margin[0] + margin[2], bottom - top + margin[1] + margin[3])
    dark, light = sorted(int(grey) for grey in random.choice(256, 2, replace=False))
    if light - dark < 70:
        dark, light = max(dark - 40, 0), min(light + 40, 255)
    ground, ink = (light, dark) if random.random() < 0.7 else (dark, light)
    image = Image.new("L", size, ground)
    ImageDraw.Draw(image).text((margin[0] - left, margin[1] - top), word, fill=ink, font=font)
    angle = float(random.uniform(-TURN, TURN))
    image = image.rotate(angle, Image.Resampling.BICUBIC, expand=True, fillcolor=ground)
    image = image.filter(ImageFilter.GaussianBlur(float(random.uniform(0, BLUR))))
    noise = random.normal(0, random.uniform(0, NOISE), (image.height, image.width))
    noisy = np.clip(np.asarray(image, np.float64) + noise, 0, 255)
    return Image.fromarray(noisy.astype(np.uint8))


def _prepared(image: Image.Image, turned: bool) -> np.ndarray:
    """Return the input of the network for an image, float32 (3, 48, 192).

    If `turned`, the image is upside down.
    """
    image = image.rotate(180) if turned else image
    width = min(max(round(ROWS * image.width / image.height), 1), COLUMNS)
    resized = image.resize((width, ROWS), Image.Resampling.BILINEAR)
    result = np.zeros((3, ROWS, COLUMNS), np.float32)
    result[:, :, :width] = (np.asarray(resized, np.float32) / 255 - 0.5) / 0.5
    return result
