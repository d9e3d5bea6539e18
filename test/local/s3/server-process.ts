import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { startS3 } from "../../../local/s3/server.ts";
import { openCredentials } from "../../../local/sts/store.ts";
import { buckets, region } from "./fixture.ts";

const dir = process.argv[2] ?? "";
const server = await startS3({
  dir: join(dir, "s3"),
  credentials: openCredentials({ dir }),
  region,
  buckets,
  onObjectCreated: async (event) => {
    if (process.argv[3] === "deaf") throw new Error("nobody listens");
    appendFileSync(join(dir, "events.jsonl"), `${JSON.stringify(event)}\n`);
  },
});
process.on("message", () => process.send?.({ rss: process.memoryUsage.rss() }));
process.send?.({ endpoint: server.endpoint });
