import { systemClock } from '../../../lib/clock.ts';
import { McpConnection } from '../../../lib/mcp/connection.ts';
import type { InputRequired, ResumedCall } from '../../../lib/mcp/tool-call.ts';
import { type CatalogueTool, type JsonObject, readCatalogue } from '../../../lib/mcp-catalogue/catalogue.ts';
import { OutboundClient } from '../../../lib/outbound/outbound-client.ts';
import type { Scenario } from './suite.ts';

const MAX_ROUNDS = 5;

/** Reads the catalogue and the resources of the server, and calls all its tools, or those of the scenario. */
export async function useServer({ url, context }: Scenario): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const privateHosts = [{ host: new URL(url).hostname, port: Number(new URL(url).port) }];
  const outbound = new OutboundClient({ clock: systemClock, privateHosts });
  stack.defer(() => outbound.close());
  const endpoint = { url, transport: 'streamable_http', timeoutSeconds: 60 };
  const connection = await McpConnection.open(endpoint, { outbound, clock: systemClock });
  stack.defer(() => connection.close());
  const { tools } = readCatalogue((await connection.readCatalogue()).json);
  const { resources } = await connection.listResources();
  for (const { uri } of resources) await connection.readResource(String(uri));
  const calls = (context.toolCalls ?? []) as { name: string; arguments: JsonObject }[];
  if (calls.length === 0)
    // A model sees the error of a call and goes on.
    for (const tool of tools)
      await callTool(connection, tool, sampleOf(tool.input_schema) as JsonObject).catch(() => {});
  for (const { name, arguments: input } of calls) {
    const tool = tools.find((one) => one.name === name);
    if (!tool) throw new Error(`the server has no tool ${name}`);
    await callTool(connection, tool, input);
  }
}

/** Calls a tool until it requires no more input. */
async function callTool(connection: McpConnection, tool: CatalogueTool, input: JsonObject): Promise<void> {
  let resumed: ResumedCall | undefined;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const { inputRequired } = await connection.callTool({ tool, input, resumed });
    if (!inputRequired) return;
    resumed = { inputResponses: responsesTo(inputRequired), requestState: inputRequired.requestState };
  }
}

function responsesTo({ requests }: InputRequired): ResumedCall['inputResponses'] {
  return Object.fromEntries(
    Object.entries(requests).map(([key, { params }]) => {
      const { requestedSchema = {} } = params as { requestedSchema?: JsonObject };
      return [key, { action: 'accept', content: sampleOf(requestedSchema) as JsonObject }];
    }),
  );
}

/** A value of the schema. */
function sampleOf(schema: unknown): unknown {
  const { type, properties = {}, enum: values } = schema as JsonObject;
  if (Array.isArray(values)) return values[0];
  if (type === 'string') return 'text';
  if (type === 'boolean') return true;
  if (type === 'number' || type === 'integer') return 3;
  if (type === 'array') return [];
  return Object.fromEntries(
    Object.entries(properties as JsonObject).map(([name, one]) => [name, sampleOf(one)]),
  );
}
