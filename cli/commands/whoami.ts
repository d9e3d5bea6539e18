import { command, serviceOptions } from "../command.ts";
import { openService } from "../configuration.ts";
import { columnsText, printable } from "../terminal.ts";

const { url, profile, json } = serviceOptions;

/** `slipway whoami`: the service, and the organizations that the credential has access to. */
export const whoami = command({
  options: { url, profile, json },
  run: async (args, context) => {
    const { client, baseUrl } = openService(args, context);
    const { organizations } = await client.listOrganizations();
    const { terminal } = context;
    if (args.flag("json")) terminal.result(JSON.stringify({ baseUrl, organizations }));
    else {
      terminal.note(`Service: ${baseUrl}`);
      const rows = organizations.map(({ id, name, role }) => [id, role ?? "key", printable(name)]);
      for (const line of columnsText(rows)) terminal.result(line);
    }
    return 0;
  },
});
