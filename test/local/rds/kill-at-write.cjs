// Preloaded into a process that starts PostgreSQL: counts what is written below FOLDER, and ends the process by SIGKILL
// right after write number KILL_AT. Without KILL_AT it appends "<call> <file>" for each write to TRACE.
const fs = require("node:fs");
const { FOLDER = "", KILL_AT, TRACE } = process.env;
const appendFileSync = fs.appendFileSync.bind(fs);
const paths = new Map();
let count = 0;

function wrote(call, path) {
  if (!path?.startsWith(FOLDER)) return;
  count += 1;
  if (TRACE) appendFileSync(TRACE, `${call} ${path.slice(FOLDER.length + 1)}\n`);
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
const cpSync = fs.cpSync;
fs.cpSync = (from, to, ...rest) => {
  cpSync(from, to, ...rest);
  wrote("cpSync", String(to));
};
