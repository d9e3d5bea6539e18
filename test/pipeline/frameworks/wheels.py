"""Packs Debian's Python packages, with those that they depend on, as wheels into a folder: wheels.py <folder> <package>...

Debian removes what it turns into its own dependencies from a package's metadata, so dpkg is asked for them.
"""

import base64, hashlib, importlib.metadata, pathlib, re, subprocess, sys, zipfile

HOME = pathlib.Path("/usr/lib/python3/dist-packages")


def dpkg(*arguments):
    """What dpkg-query prints; nothing for the alternative of a dependency that is not installed."""
    return subprocess.run(["dpkg-query", *arguments], capture_output=True, text=True).stdout


def pack(package, folder, packed):
    """The wheel's name and version; None for a package that holds no distribution of its own."""
    if package in packed:
        return packed[package]
    files = [path.relative_to(HOME) for path in map(pathlib.Path, dpkg("-L", package).split("\n")) if HOME in path.parents]
    info = next((path.parts[0] for path in files if re.search(r"\.(dist|egg)-info$", path.parts[0])), None)
    if info is None:
        return None
    metadata = importlib.metadata.Distribution.at(HOME / info).metadata
    name, version = metadata["Name"], metadata["Version"]
    packed[package] = (name, version)
    depends = re.findall(r"\bpython3-[\w.+-]+", dpkg("-W", "-f", "${Depends}", package))
    required = [found for found in (pack(other, folder, packed) for other in depends) if found]
    stem = f"{re.sub('[-_.]+', '_', name)}-{version}"
    texts = {
        "METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        + "".join(f"Requires-Dist: {other} (=={its})\n" for other, its in required),
        "WHEEL": "Wheel-Version: 1.0\nGenerator: slipway-test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    entry_points = HOME / info / "entry_points.txt"
    if entry_points.is_file():
        texts["entry_points.txt"] = entry_points.read_text()
    contents = {f"{stem}.dist-info/{file}": text.encode() for file, text in texts.items()}
    for path in files:
        # Translations are most of Django, and nothing here is translated.
        translation = "locale" in path.parts and path.suffix in (".mo", ".po")
        if path.parts[0] != info and not translation and (HOME / path).is_file():
            contents[str(path)] = (HOME / path).read_bytes()
    write(folder / f"{stem}-py3-none-any.whl", f"{stem}.dist-info/RECORD", contents)
    return packed[package]


def write(wheel, record, contents):
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        lines = []
        for path, content in contents.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            lines.append(f"{path},sha256={digest},{len(content)}\n")
            archive.writestr(path, content)
        archive.writestr(record, "".join(lines) + f"{record},,\n")


packed = {}
for package in sys.argv[2:]:
    pack(package, pathlib.Path(sys.argv[1]), packed)
