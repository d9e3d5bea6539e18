import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import * as z from "zod";
import { buildah, imagesCache } from "../../scripts/images/buildah.ts";
import type { Built } from "./image.ts";

/**
 * From inside new namespaces to the app: a /proc and a /dev of its own, the loopback interface up, then root, user, folder,
 * and the environment from a file of `NAME=value` and a NUL each. The app becomes process 1.
 */
const launcher = String.raw`
use strict; use Socket;
my ($root, $user, $folder, $file, @command) = @ARGV;
for (["mount", "-t", "proc", "proc", "$root/proc"], ["mount", "--rbind", "/dev", "$root/dev"]) { system(@$_) == 0 or exit 125 }
my $up = pack("a16 s x22", "lo", 0x41);
socket(my $socket, AF_INET, SOCK_DGRAM, 0) or die; ioctl($socket, 0x8914, $up) or die "lo: $!";
open(my $lines, "<", $file) or die; local $/ = "\0";
%ENV = map { chomp; split /=/, $_, 2 } <$lines>;
chroot $root or die; chdir $folder or die;
$( = $user; $) = "$user $user"; $< = $user; $> = $user;
exec { $command[0] } @command; die "$command[0]: $!";
`;

export interface Exit {
  code: number | null;
  signal: string | null;
}

const run = promisify(execFile);
const answerSchema = z.object({ status: z.int(), type: z.string().nullable(), body: z.string() });
type Answer = z.infer<typeof answerSchema>;

/** An image that runs: what an engine does with its configuration, done by hand. Dispose of it. */
export class Container {
  readonly #id: string;
  readonly #process: ChildProcess;
  readonly #environment: string;
  readonly #image: NonNullable<Built["image"]>;
  readonly #ended: Promise<unknown[]>;
  /** Its file system, as the host sees it. */
  readonly root: string;
  log = "";

  static async start(image: NonNullable<Built["image"]>): Promise<Container> {
    const id = await buildah(["from", "--pull-never", image.name]);
    const root = await buildah(["mount", id]);
    return new Container(image, id, root);
  }

  constructor(image: NonNullable<Built["image"]>, id: string, root: string) {
    const { User, WorkingDir, Env, Entrypoint, Cmd } = image.config;
    this.#image = image;
    this.#id = id;
    this.root = root;
    this.#environment = join(imagesCache, "tmp", `${id}.environment`);
    writeFileSync(this.#environment, Env.map((entry) => `${entry}\0`).join(""), { mode: 0o600 });
    const command = [...(Entrypoint ?? []), ...Cmd];
    const namespaces = ["--mount", "--pid", "--net", "--fork"];
    const args = [...namespaces, "perl", "-e", launcher, root, User, WorkingDir, this.#environment, ...command];
    this.#process = spawn("unshare", args, { stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [this.#process.stdout, this.#process.stderr])
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.log += text;
      });
    this.#ended = once(this.#process, "close");
  }

  /** The host's id of the app, which is process 1 in its own namespace; undefined while it is not there. */
  #app(): number | undefined {
    const { pid, exitCode, signalCode } = this.#process;
    if (pid === undefined || exitCode !== null || signalCode !== null) return undefined;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
    return children === "" ? undefined : Number(children);
  }

  /** The port that the image declares. */
  get port(): number {
    return Number.parseInt(Object.keys(this.#image.config.ExposedPorts)[0] ?? "", 10);
  }

  /** Asks from inside the container's network, again until something listens. */
  async get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    const text = `const r = await fetch(${JSON.stringify(`http://127.0.0.1:${this.port}${path}`)}, { headers: ${JSON.stringify(headers)} });
      console.log(JSON.stringify({ status: r.status, type: r.headers.get("content-type"), body: await r.text() }));`;
    const deadline = Date.now() + 30_000;
    for (;;) {
      try {
        const call = [
          "--target",
          String(this.#app()),
          "--net",
          process.execPath,
          "--input-type=module",
          "--eval",
          text,
        ];
        const { stdout } = await run("nsenter", call, { maxBuffer: 2 ** 26 });
        return answerSchema.parse(JSON.parse(stdout));
      } catch (error) {
        if (Date.now() > deadline || this.#process.exitCode !== null)
          throw new Error(`Nothing answers on port ${this.port}. The app said:\n${this.log}`, { cause: error });
        await sleep(100);
      }
    }
  }

  /** What an engine does to stop it: the image's signal to process 1, and an end by force to what does not hear it. Resolves with how it ended. */
  async stop(): Promise<Exit> {
    const signal = z.literal("SIGTERM").parse(this.#image.config.StopSignal);
    this.#kill(signal);
    const force = setTimeout(() => this.#kill("SIGKILL"), 10_000);
    await this.#ended;
    clearTimeout(force);
    return { code: this.#process.exitCode, signal: this.#process.signalCode };
  }

  #kill(signal: "SIGTERM" | "SIGKILL"): void {
    const app = this.#app();
    if (app !== undefined) process.kill(app, signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Not unshare: its --kill-child is lost when the app becomes another user.
    this.#kill("SIGKILL");
    await this.#ended;
    rmSync(this.#environment, { force: true });
    await buildah(["rm", this.#id]);
    await buildah(["rmi", "--force", this.#image.name]);
  }
}
