import { Refusal } from '../../lib/errors.ts';
import type { Client, Contract } from '../../lib/grpc/contract.ts';

/** Which methods a client may call at all, in the order of the alphabet: each is called, on behalf of nobody. */
export async function openTo<C extends Contract>(contract: C, client: Client<C>): Promise<string[]> {
  const open: string[] = [];
  for (const [name, { requestType, requestStream }] of Object.entries(contract.methods)) {
    const request = requestStream ? nothing() : requestType.decode(new Uint8Array());
    const call = client[name as keyof typeof client] as (request: unknown) => unknown;
    if (!(await isForbidden(call, request))) open.push(name);
  }
  return open.toSorted();
}

async function isForbidden(call: (request: unknown) => unknown, request: unknown): Promise<boolean> {
  try {
    const answer = call(request);
    if (isStream(answer)) for await (const _ of answer) break;
    else await answer;
    return false;
  } catch (error) {
    return error instanceof Refusal && error.code === 'FORBIDDEN';
  }
}

function isStream(answer: unknown): answer is AsyncIterable<unknown> {
  return typeof answer === 'object' && answer !== null && Symbol.asyncIterator in answer;
}

async function* nothing(): AsyncGenerator<never> {}
