import { type Client, ProtocolError, type RequestOptions, SdkHttpError } from '@modelcontextprotocol/client';
import type { JsonObject } from '../mcp-catalogue/catalogue.ts';
import { translateListError } from './read-catalogue.ts';
import type { ToolCallResult } from './tool-call.ts';

/** The resources of a server, as the protocol describes them. */
export interface ResourceList {
  resources: readonly JsonObject[];
  /** Resources whose URIs have parameters. */
  resourceTemplates: readonly JsonObject[];
}

/** Reads all pages of both lists. They are empty for a server without resources. */
export async function listResourcesOf(
  client: Client,
  options: Parameters<Client['listResources']>[1],
): Promise<ResourceList> {
  if (!client.getServerCapabilities()?.resources) return { resources: [], resourceTemplates: [] };
  try {
    const { resources } = await client.listResources(undefined, options);
    const { resourceTemplates } = await client
      .listResourceTemplates(undefined, options)
      .catch((error) => withoutTemplates(client, error));
    return { resources: resources.map(described), resourceTemplates: resourceTemplates.map(described) };
  } catch (error) {
    throw translateListError(error);
  }
}

/** Many servers with resources do not know the list of templates. */
function withoutTemplates(client: Client, error: unknown): { resourceTemplates: [] } {
  // Servers of 2025-11-25 use the status 404 for an unknown session.
  const isUnknown =
    error instanceof SdkHttpError && error.status === 404 && client.getProtocolEra() === 'modern';
  if (isUnknown || error instanceof ProtocolError) return { resourceTemplates: [] };
  throw error;
}

/** Icons are not for models. */
function described({ icons: _, _meta: __, ...resource }: JsonObject): JsonObject {
  return resource;
}

/** Returns the contents of a resource as the result of a tool. An error of the server is a result. */
export async function readResourceOf(
  client: Client,
  uri: string,
  options: RequestOptions,
): Promise<ToolCallResult> {
  const { contents } = await client.readResource({ uri }, options);
  return { isError: false, content: contents.map((resource) => ({ type: 'resource', resource })) };
}
