import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, createWriteStream, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { describe, expect, it } from "vitest";
import yazl from "yazl";
import { extracted, scratch, treeOf } from "./trees.ts";

const source = "export const answer = 42;\n".repeat(400);

function project(): string {
  const folder = join(scratch(), "project");
  for (const path of ["", "src", "src/naïve", "bin", "empty"]) mkdirSync(join(folder, path));
  writeFileSync(join(folder, "src/index.ts"), source);
  writeFileSync(join(folder, "src/naïve/日本.txt"), "names");
  writeFileSync(join(folder, "src/nothing"), "");
  writeFileSync(join(folder, "bin/start"), "#!/bin/sh\n");
  chmodSync(join(folder, "bin/start"), 0o755);
  symlinkSync("../src/index.ts", join(folder, "bin/main.ts"));
  return folder;
}

const files = {
  "src/index.ts": source,
  "src/naïve/日本.txt": "names",
  "src/nothing": "",
  "bin/start": "x #!/bin/sh\n",
};
const folders = { src: "/", "src/naïve": "/", bin: "/" };
const whole = { ...files, ...folders, empty: "/", "bin/main.ts": "-> ../src/index.ts" };
const linkFollowed = { ...whole, "bin/main.ts": source };
const withoutModes = { ...linkFollowed, "bin/start": "#!/bin/sh\n" };

const programs = new Map<string, boolean>();
/** Whether a program is installed; each is asked once. */
function has(program: string): boolean {
  const isKnown = programs.get(program);
  if (isKnown !== undefined) return isKnown;
  const isInstalled = spawnSync(program, ["--version"], { stdio: "ignore" }).error === undefined;
  programs.set(program, isInstalled);
  return isInstalled;
}
const missing = (program: string) => `${program} is not installed here: its archives are not tried`;

function itWith(program: string, sentence: string, test: () => Promise<void> | void): void {
  if (has(program)) it(sentence, test);
  else it.skip(`${sentence} (${missing(program)})`);
}

function shell(command: string, folder: string, env: Record<string, string> = {}): string {
  const path = join(scratch(), "app.zip");
  execFileSync("sh", ["-c", command], { cwd: folder, env: { ...process.env, ZIP_FILE: path, ...env }, stdio: "pipe" });
  return path;
}

describe("Info-ZIP", () => {
  const ways: [string, string, Record<string, string>][] = [
    ["with links", 'zip -qry "$ZIP_FILE" .', whole],
    ["with links followed", 'zip -qr "$ZIP_FILE" .', linkFollowed],
    ["stored", 'zip -qry0 "$ZIP_FILE" .', whole],
    ["written to a pipe", 'zip -qr - . | cat > "$ZIP_FILE"', linkFollowed],
    ["zip64 throughout", 'zip -qry -fz "$ZIP_FILE" .', whole],
    ["without folders", 'zip -qryD "$ZIP_FILE" .', { ...files, ...folders, "bin/main.ts": "-> ../src/index.ts" }],
    ["with a comment", 'echo "made by hand" | zip -qryz "$ZIP_FILE" .', whole],
    [
      "updated and thinned out",
      'zip -qry "$ZIP_FILE" . && echo x > extra && zip -q "$ZIP_FILE" extra && zip -qd "$ZIP_FILE" extra',
      whole,
    ],
  ];
  for (const [sentence, command, tree] of ways) {
    itWith("zip", sentence, async () => {
      expect(treeOf(await extracted(shell(command, project())))).toEqual(tree);
    });
  }

  itWith("zip", "names written without a locale", async () => {
    const tree = treeOf(await extracted(shell('zip -qry "$ZIP_FILE" .', project(), { LC_ALL: "C" })));
    expect(tree).toEqual(whole);
  });

  // An entry from a pipe is marked as a pipe; unzip extracts it as a file named "-", which no app has.
  itWith("zip", "a named pipe is refused", async () => {
    const path = shell('cat src/index.ts | zip -q - - | cat > "$ZIP_FILE"', project());
    await expect(extracted(path)).rejects.toMatchObject({ rule: "special_file", entry: "-" });
  });

  // zip cannot write links to a pipe: it fails after the files, so the archive has no directory.
  itWith("zip", "an archive that zip did not finish is refused as incomplete", async () => {
    const path = shell('zip -qry - . 2> /dev/null | cat > "$ZIP_FILE"', project());
    await expect(extracted(path)).rejects.toMatchObject({ rule: "truncated" });
  });
});

describe("Python", () => {
  const python = (body: string) => `python3 - "$ZIP_FILE" <<'END'
import io, os, sys, zipfile
paths = sorted(os.path.join(top, name)[2:] for top, dirs, names in os.walk(".") for name in dirs + names)
class Pipe(io.RawIOBase):
    def __init__(self, path): self.file = open(path, "wb")
    def writable(self): return True
    def write(self, data): return self.file.write(data)
    def flush(self): self.file.flush()
${body}
END`;
  const ways: [string, string][] = [
    ["deflated", 'z = zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED)\nfor p in paths: z.write(p)\nz.close()'],
    ["stored", 'z = zipfile.ZipFile(sys.argv[1], "w")\nfor p in paths: z.write(p)\nz.close()'],
    [
      "to a pipe",
      'z = zipfile.ZipFile(Pipe(sys.argv[1]), "w", zipfile.ZIP_DEFLATED)\nfor p in paths: z.write(p)\nz.close()\nz.fp',
    ],
    ["stored, to a pipe", 'z = zipfile.ZipFile(Pipe(sys.argv[1]), "w")\nfor p in paths: z.write(p)\nz.close()'],
  ];
  const finish = "\nimport gc; gc.collect()";
  for (const [sentence, body] of ways) {
    itWith("python3", sentence, async () => {
      expect(treeOf(await extracted(shell(python(body + finish), project())))).toEqual(linkFollowed);
    });
  }

  const forced = (target: string) => `
out = ${target}
z = zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED)
for p in paths:
    if os.path.isdir(p): z.write(p)
    else:
        with z.open(p, "w", force_zip64=True) as f: f.write(open(p, "rb").read())
z.close()`;
  for (const [sentence, target] of [
    ["zip64 forced", "sys.argv[1]"],
    ["zip64 forced, to a pipe", "Pipe(sys.argv[1])"],
  ] as const) {
    itWith("python3", sentence, async () => {
      expect(treeOf(await extracted(shell(python(forced(target) + finish), project())))).toEqual(withoutModes);
    });
  }

  itWith("python3", "shutil.make_archive", async () => {
    const command = `python3 -c 'import shutil,sys; shutil.make_archive(sys.argv[1][:-4], "zip", ".")' "$ZIP_FILE"`;
    expect(treeOf(await extracted(shell(command, project())))).toEqual(linkFollowed);
  });
});

describe("other writers", () => {
  itWith("git", "git archive, with the commit as its comment", async () => {
    const commit =
      "git init -q . && git add -A && git -c user.name=t -c user.email=t@example.com commit -qm first && git archive --format=zip -o";
    const { empty: _, ...tracked } = whole;
    expect(treeOf(await extracted(shell(`${commit} "$ZIP_FILE" HEAD`, project())))).toEqual(tracked);
    const nested = await extracted(shell(`${commit} "$ZIP_FILE" --prefix=app/ HEAD`, project()), { root: "app" });
    expect(treeOf(nested)).toEqual(tracked);
  });

  itWith("jar", "jar, with its own extra field and a manifest", async () => {
    for (const options of ["cf", "cf0"]) {
      const tree = treeOf(await extracted(shell(`jar ${options} "$ZIP_FILE" .`, project())));
      expect(tree).toMatchObject(withoutModes);
      expect(tree["META-INF/MANIFEST.MF"]).toContain("Manifest-Version");
    }
  });

  it.each([false, true])("yazl, zip64 forced: %s", async (forceZip64Format) => {
    const folder = project();
    const zip = new yazl.ZipFile();
    zip.addEmptyDirectory("empty");
    zip.addFile(join(folder, "src/index.ts"), "src/index.ts", { forceZip64Format });
    zip.addBuffer(Buffer.from("#!/bin/sh\n"), "bin/start", { mode: 0o100755, compress: false, forceZip64Format });
    zip.addReadStreamLazy("src/naïve/日本.txt", { forceZip64Format }, (give) => {
      import("node:stream").then(({ Readable }) => give(null, Readable.from([Buffer.from("names")])));
    });
    zip.end({ forceZip64Format, comment: "made by yazl" });
    const path = join(scratch(), "app.zip");
    await pipeline(zip.outputStream, createWriteStream(path));
    const { "src/nothing": _, ...some } = files;
    expect(treeOf(await extracted(path))).toEqual({ ...some, ...folders, empty: "/" });
  });
});
