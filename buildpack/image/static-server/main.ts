import { fileServer } from "./file-server.ts";
import { prepareFiles } from "./prepare-files.ts";

/** The time that open responses have to finish after the process receives SIGTERM, in milliseconds. */
const lastAnswerMs = 500;

/**
 * The program of a static site's image. `static-server.mjs --prepare <folder>` ends the build; `static-server.mjs <folder>
 * [fallback]` is the app, on PORT and HOST.
 */
const [first = "dist", second = "index.html"] = process.argv.slice(2);

try {
  if (first === "--prepare") console.log(await prepareFiles(second));
  else serve(first, second);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

function serve(folder: string, fallback: string): void {
  const { PORT = "8080", HOST = "0.0.0.0" } = process.env;
  const server = fileServer(folder, fallback);
  server.listen(Number(PORT), HOST, () => console.log("Serving files"));
  process.on("SIGTERM", () => {
    server.close(() => process.exit(0));
    setTimeout(() => process.exit(0), lastAnswerMs);
  });
}
