import type { InputNeeded } from '../tool-calls/tool-call.ts';
import { askUser } from './ask-user.ts';

const MAX_STATE_BYTES = 64 * 1024;
const MAX_DETAILS_BYTES = 64 * 1024;

/** Returns why a person cannot be asked for this input; undefined when it can be shown. */
export async function inputRequestProblem({ details, state }: InputNeeded): Promise<string | undefined> {
  if (state.length > MAX_STATE_BYTES) return `its state exceeds ${MAX_STATE_BYTES} bytes`;
  if (Buffer.byteLength(JSON.stringify(details)) > MAX_DETAILS_BYTES)
    return `the request exceeds ${MAX_DETAILS_BYTES} bytes`;
  if ('url' in details) return URL.canParse(details.url) ? undefined : 'the link is not a URL';
  // The form follows the rules of ask_user, so that the module of its answers can check the content.
  return askUser.inputProblem({ question: 'form', schema: details.form });
}
