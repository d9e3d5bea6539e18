import * as z from "zod";
import { planSchema } from "../analysis/plan.ts";

/** What the analysis hands to the image build, as `recipe.json`; the values of variables are a file of their own. */
export const recipeSchema = z.object({
  plan: planSchema,
  dockerfile: z.string(),
  dockerignore: z.string(),
  /** The module that serves a single-page app's files; null for apps that serve themselves. */
  staticServer: z.string().nullable(),
});
export type ImageRecipe = z.infer<typeof recipeSchema>;
