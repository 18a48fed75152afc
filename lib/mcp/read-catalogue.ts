import { type Client, SdkError, SdkErrorCode, type Tool } from '@modelcontextprotocol/client';
import { type CatalogueText, type CatalogueTool, catalogueText } from '../mcp-catalogue/catalogue.ts';
import { McpError } from './mcp-error.ts';

export interface ReadCatalogue extends CatalogueText {
  prompts: { name: string; title: string; description: string }[];
  resourceCount: number;
}

type ListOptions = Parameters<Client['listTools']>[1];

/** Reads all pages of all lists that the server offers. */
export async function readCatalogueOf(client: Client, options: ListOptions): Promise<ReadCatalogue> {
  const offered = client.getServerCapabilities() ?? {};
  try {
    const tools = offered.tools ? (await client.listTools(undefined, options)).tools : [];
    const prompts = offered.prompts ? (await client.listPrompts(undefined, options)).prompts : [];
    const resources = offered.resources ? (await client.listResources(undefined, options)).resources : [];
    const { title = '' } = client.getServerVersion() ?? {};
    const instructions = client.getInstructions() ?? '';
    return {
      ...catalogueText({ title, instructions, tools: withUniqueNames(tools.map(catalogueTool)) }),
      prompts: prompts.map(({ name, title: shown = '', description = '' }) => ({
        ...{ name, title: shown, description },
      })),
      resourceCount: resources.length,
    };
  } catch (error) {
    throw translateListError(error);
  }
}

function catalogueTool({
  name,
  title,
  description,
  inputSchema,
  outputSchema,
  annotations,
}: Tool): CatalogueTool {
  return {
    name,
    title: title ?? annotations?.title ?? '',
    description: description ?? '',
    input_schema: inputSchema,
    output_schema: outputSchema ?? null,
    annotations: annotations ?? {},
  };
}

function withUniqueNames(tools: CatalogueTool[]): CatalogueTool[] {
  if (new Set(tools.map(({ name }) => name)).size < tools.length)
    throw new McpError('invalid_response', 'The server lists two tools with one name.');
  return tools;
}

/** Names the cause of a list that could not be read. Other errors are returned unchanged. */
export function translateListError(error: unknown): unknown {
  if (error instanceof RangeError)
    return new McpError('too_large', 'The catalogue of the server has more than 128 levels.');
  if (error instanceof SdkError && error.code === SdkErrorCode.ListPaginationExceeded)
    return new McpError('too_large', 'A list of the server has more than 64 pages.');
  return error;
}
