// One file, because loading the CDK and synthesizing the deployments costs a process more than most of these tests. The
// permissions come first: a mutation run takes its parts from the first template, which is that of the default settings.
import "./iam.ts";
import "./deployment.ts";
import "./events.ts";
import "./integrations.ts";
import "./network.ts";
import "./removal.ts";
import "./routes.ts";
import "./sdk-calls.ts";
import "./settings.ts";
import "./stateful.ts";
import "./validation.ts";
