import { page } from "../http/page.ts";
import { llmsText } from "./model/llms.ts";

export const handler = page(async () => ({ contentType: "text/plain; charset=utf-8", text: llmsText() }));
