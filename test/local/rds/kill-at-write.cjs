// Preloaded into a process or thread that starts PostgreSQL: counts what is written below FOLDER.
// KILL_AT: ends the process by SIGKILL right after the write of this number.
// COPY_AT and COPIES: copies the folder to COPIES/<number> right after the writes of these numbers, as a SIGKILL would leave it.
// TRACE: appends "<call> <file>" for each write to this file.
const fs = require("node:fs");
const { join } = require("node:path");
const { FOLDER = "", KILL_AT, COPY_AT = "", COPIES = "", TRACE } = process.env;
const { appendFileSync, cpSync } = fs;
const copied = new Set(COPY_AT.split(",").filter(Boolean).map(Number));
const paths = new Map();
let count = 0;

function wrote(call, path) {
  if (!path?.startsWith(FOLDER)) return;
  count += 1;
  if (TRACE) appendFileSync(TRACE, `${call} ${path.slice(FOLDER.length + 1)}\n`);
  if (copied.has(count)) cpSync(FOLDER, join(COPIES, String(count)), { recursive: true });
  if (count === Number(KILL_AT)) process.kill(process.pid, "SIGKILL");
}

const { openSync } = fs;
fs.openSync = (path, flags, ...rest) => {
  const fd = openSync(path, flags, ...rest);
  paths.set(fd, String(path));
  const creates = typeof flags === "number" ? (flags & fs.constants.O_CREAT) !== 0 : flags !== "r";
  if (creates) wrote("create", String(path));
  return fd;
};
for (const name of ["writeSync", "ftruncateSync"]) {
  const original = fs[name];
  fs[name] = (fd, ...rest) => {
    const result = original(fd, ...rest);
    wrote(name, paths.get(fd));
    return result;
  };
}
for (const name of ["renameSync", "unlinkSync", "truncateSync", "mkdirSync"]) {
  const original = fs[name];
  fs[name] = (path, ...rest) => {
    const result = original(path, ...rest);
    wrote(name, String(path));
    return result;
  };
}
fs.cpSync = (from, to, ...rest) => {
  cpSync(from, to, ...rest);
  wrote("cpSync", String(to));
};
