import { type Engine, findEngine } from "../../local/containers/engine.ts";

/** The Docker engine of this machine (scripts/images/engine.sh starts one), or the reason why tests with containers are skipped. */
export const testEngine = (): Promise<Engine> => findEngine(process.env);
