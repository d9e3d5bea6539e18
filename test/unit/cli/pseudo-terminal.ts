import { spawn } from "node:child_process";

/** Runs a program in a pseudo-terminal of this width: its output, and what the keyboard sends when the output has a text. */
const program = `
import fcntl, json, os, pty, select, struct, sys, termios
columns, presses, *words = json.loads(sys.argv[1])
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    os.execvp(words[0], words)
seen = b""
while True:
    try:
        piece = os.read(fd, 65536)
    except OSError:
        piece = b""
    if not piece:
        break
    seen += piece
    if presses and presses[0][0].encode() in seen:
        os.write(fd, presses.pop(0)[1].encode())
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
print(json.dumps([status, seen.decode("utf-8", "replace")]))
`;

interface PressedKeys {
  /** Pressed once the output has this text. */
  after: string;
  keys: string;
}

export interface OnTerminal {
  code: number;
  /** Everything that was written, with control sequences, in the terminal's line endings. */
  output: string;
}

/** Runs a command in a pseudo-terminal, which Python's standard library makes: a native package for it would have to be compiled. */
export async function onTerminal(
  words: string[],
  {
    columns = 80,
    environment,
    keys = [],
  }: { columns?: number; environment: Record<string, string>; keys?: PressedKeys[] },
): Promise<OnTerminal> {
  const input = JSON.stringify([columns, keys.map(({ after, keys: pressed }) => [after, pressed]), ...words]);
  const child = spawn("python3", ["-c", program, input], { env: { PATH: process.env.PATH, ...environment } });
  child.stderr.pipe(process.stderr);
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (piece: string) => {
    text += piece;
  });
  const ended = await new Promise<number | null>((done, fail) => child.on("error", fail).on("close", done));
  if (ended !== 0) throw new Error(`python3 ended with ${ended}`);
  const [code, output] = JSON.parse(text) as [number, string];
  return { code, output };
}
