import { Type } from 'typebox';
import { nullable } from '../../../schemas/common.ts';

/** The members that the schemas of several tools have. */

export const agentId = (meaning: string) => identifier('agt', meaning);
export const sessionId = (meaning: string) => identifier('ses', meaning);
export const turnId = (meaning: string) => identifier('trn', meaning);

const identifier = (prefix: string, meaning: string) =>
  Type.String({ maxLength: 100, description: `${prefix}_…: ${meaning}` });

export const nextCursor = nullable(Type.String(), {
  description: 'The `cursor` of the next page; null on the last page.',
});
