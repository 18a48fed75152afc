import { type InputRequests, inputRequired } from '@modelcontextprotocol/server';
import type { McpOperation } from '../operation.ts';
import { consoleUrl } from '../turn-result.ts';
import type { OpenInput } from './open-inputs.ts';

/**
 * The requests with which the client gets these inputs from its user: a form, else the address of the console. Inputs that the
 * client cannot get are left out. A decision about a tool call needs the scope `approve`: a model must not approve what it has
 * delegated.
 */
export function inputRequests(
  operation: McpOperation,
  sessionId: string,
  inputs: readonly OpenInput[],
): InputRequests {
  const { client, scopes } = operation;
  const requests: InputRequests = {};
  for (const input of inputs) {
    const hasForm = input.kind === 'question' || (input.kind === 'approval' && scopes.includes('approve'));
    if (hasForm && client.forms) requests[input.key] = formRequest(input);
    else if (client.urls)
      requests[pageKey(input)] = inputRequired.elicitUrl({
        message: input.message,
        url: consoleUrl(operation, sessionId),
      });
  }
  return requests;
}

function formRequest({ message, form }: Exclude<OpenInput, { kind: 'page' }>): InputRequests[string] {
  const { properties, required } = form;
  return inputRequired.elicit({
    message,
    requestedSchema: { type: 'object', properties, ...(required && { required: [...required] }) },
  });
}

/** The address has another key than the form, so that a client that remembers keys shows both. */
const pageKey = ({ kind, key }: OpenInput) => (kind === 'page' ? key : `page:${key}`);
