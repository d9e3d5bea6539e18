import { appsProofs } from "./apps.ts";
import { buildsProofs } from "./builds.ts";
import { callersProofs } from "./callers.ts";
import { dataProofs } from "./data.ts";
import { peopleProofs } from "./people.ts";
import { projectsProofs } from "./projects.ts";
import type { Proofs } from "./proof.ts";
import { requestsProofs } from "./requests.ts";
import { serviceProofs } from "./service.ts";

/** Every heading of docs/api.md; scripts/coverage-page.ts writes docs/coverage.md from it. */
export const proofs: Proofs = {
  ...requestsProofs,
  ...callersProofs,
  ...peopleProofs,
  ...projectsProofs,
  ...buildsProofs,
  ...appsProofs,
  ...dataProofs,
  ...serviceProofs,
};
