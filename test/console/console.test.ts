import { afterAll } from "vitest";
import { stopConsole } from "./harness.ts";

// One file, so that one process starts the service and the browser: that costs more than most of these tests. Each part
// leaves what those after it need: the first database and storage without content, then the names of the seed.
import "./bundle.ts";
import "./sign-in.ts";
import "./files.ts";
import "./databases.ts";
import "./builds.ts";
import "./faults.ts";
import "./passkeys.ts";
import "./project-pages.ts";
import "./organization.ts";

afterAll(stopConsole);
