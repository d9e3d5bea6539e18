import { openApi } from "../../api/openapi.ts";
import { page } from "../http/page.ts";

export const handler = page(async () => ({ contentType: "application/json", text: JSON.stringify(openApi()) }));
