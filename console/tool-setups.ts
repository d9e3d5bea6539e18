/** How an AI tool is connected over MCP, as docs/mcp.md says; the token stays in the variable SLIPWAY_TOKEN. */
export function toolSetups(origin: string): readonly { tool: string; where: string; text: string }[] {
  const url = `${origin}/mcp`;
  return [
    {
      tool: "Claude Code",
      where: "In a terminal:",
      text: `claude mcp add --transport http slipway ${url} --header "Authorization: Bearer $SLIPWAY_TOKEN"`,
    },
    {
      tool: "Cursor",
      where: "In .cursor/mcp.json:",
      text: JSON.stringify(
        { mcpServers: { slipway: { url, headers: { Authorization: "Bearer ${env:SLIPWAY_TOKEN}" } } } },
        null,
        2,
      ),
    },
    {
      tool: "VS Code",
      where: "In .vscode/mcp.json; it asks for the token:",
      text: JSON.stringify(
        {
          inputs: [{ id: "token", type: "promptString", description: "Slipway token", password: true }],
          servers: { slipway: { type: "http", url, headers: { Authorization: "Bearer ${input:token}" } } },
        },
        null,
        2,
      ),
    },
    {
      tool: "Codex",
      where: "In ~/.codex/config.toml:",
      text: `[mcp_servers.slipway]\nurl = "${url}"\nbearer_token_env_var = "SLIPWAY_TOKEN"`,
    },
  ];
}
