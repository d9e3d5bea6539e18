import type * as esbuild from "esbuild";

let users = 0;

/** Runs `work` with esbuild, whose process ends when no caller needs it any more; otherwise it would run as long as the service. */
export async function withEsbuild<T>(work: (builder: typeof esbuild) => Promise<T>): Promise<T> {
  users += 1;
  try {
    const builder = await import("esbuild");
    return await work(builder).finally(async () => {
      if (users === 1) await builder.stop();
    });
  } finally {
    users -= 1;
  }
}
