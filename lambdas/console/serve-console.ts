import { pages } from "../http/page.ts";
import { notFound } from "../http/problem.ts";
import { prepareTools } from "../http/tools.ts";
import { consoleSite } from "./model/site.ts";

const ready = prepareTools(["uploads:locate"]);

export const handler = pages(async ({ rawPath }) => {
  const [site, { uploadOrigins }] = await Promise.all([consoleSite(), ready()]);
  const content = site.contentAt(rawPath, uploadOrigins);
  if (!content) throw notFound();
  return content;
});
