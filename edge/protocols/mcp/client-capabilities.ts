import { hasTaskClientCapabilityV2 } from '@modelcontextprotocol/ext-tasks/core/v2';
import { CLIENT_CAPABILITIES_META_KEY, type ServerContext } from '@modelcontextprotocol/server';
import { isObject } from './message.ts';

/** What the client of a request can do for its user. Requests of 2025-11-25 do not tell it. */
export interface ClientCapabilities {
  /** It understands tasks: `io.modelcontextprotocol/tasks`. */
  tasks: boolean;
  /** It shows forms to its user. */
  forms: boolean;
  /** It opens addresses for its user. */
  urls: boolean;
}

export const NO_CAPABILITIES: ClientCapabilities = { tasks: false, forms: false, urls: false };

/** The capabilities that a request of 2026-07-28 declares in its `_meta`. */
export function clientCapabilities({ mcpReq }: ServerContext): ClientCapabilities {
  const envelope: Readonly<Record<string, unknown>> = { ...mcpReq.envelope };
  return declaredCapabilities(envelope[CLIENT_CAPABILITIES_META_KEY]);
}

export function declaredCapabilities(declared: unknown): ClientCapabilities {
  const tasks = hasTaskClientCapabilityV2({ _meta: { [CLIENT_CAPABILITIES_META_KEY]: declared } });
  const elicitation = isObject(declared) ? declared.elicitation : undefined;
  if (!isObject(elicitation)) return { ...NO_CAPABILITIES, tasks };
  const urls = isObject(elicitation.url);
  // A client that names no mode shows forms.
  return { tasks, forms: isObject(elicitation.form) || !urls, urls };
}
