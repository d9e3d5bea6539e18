import { resolve } from "node:path";
import { analysisReport } from "../../buildpack/analysis/report.ts";
import { SlipwayError } from "../../sdk/errors.ts";
import { command } from "../command.ts";
import { Failure } from "../failure.ts";

/** `slipway analyze <folder|zip>…`: what the service would detect, one JSON line for each path, without a service. */
export const analyze = command({
  operands: { shown: "<folder|zip>…", min: 1, max: Number.POSITIVE_INFINITY },
  options: {
    "as-deployed": { type: "boolean", describe: "analyze only the files of a folder that deploy would send" },
  },
  run: async (args, { terminal, workingFolder, signal }) => {
    // Loaded here, because loading the secret scanner would slow down the other commands.
    const { analyzePath } = await import("../analyze.ts");
    const asDeployed = args.flag("as-deployed");
    let code = 0;
    for (const path of args.operands) {
      signal.throwIfAborted();
      const report = await analyzePath(path, resolve(workingFolder, path), { asDeployed }).catch((error: unknown) => {
        const isUnreadable =
          error instanceof Failure || error instanceof SlipwayError || (error instanceof Error && "syscall" in error);
        if (!isUnreadable) throw error;
        code = 1;
        return analysisReport(path, { ok: false, error: { code: "unreadable", message: error.message } });
      });
      terminal.result(JSON.stringify(report));
    }
    return code;
  },
});
