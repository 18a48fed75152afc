import { Refusal } from '../../lib/errors.ts';
import type { Client, Contract } from '../../lib/grpc/contract.ts';

/** Returns the methods that a client is allowed to call, sorted. Calls each method once without a user. */
export async function callableMethods<C extends Contract>(contract: C, client: Client<C>): Promise<string[]> {
  const callable: string[] = [];
  for (const [name, { requestType, requestStream }] of Object.entries(contract.methods)) {
    const request = requestStream ? emptyStream() : requestType.decode(new Uint8Array());
    const call = client[name as keyof typeof client] as (request: unknown) => unknown;
    if (!(await isForbidden(call, request))) callable.push(name);
  }
  return callable.toSorted();
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

async function* emptyStream(): AsyncGenerator<never> {}
