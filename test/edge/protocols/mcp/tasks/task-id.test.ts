import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { taskIdOf, turnOfTask } from '../../../../../edge/protocols/mcp/tasks/task-id.ts';
import { createKeyDeriver } from '../../../../../lib/derived-key.ts';

const derive = createKeyDeriver('a secret of the services');
const USER = 'usr_01ARZ3NDEKTSV4RRFFQ69G5FAV';
const ULID = fc.stringMatching(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
const TURN = fc.record({
  sessionId: ULID.map((ulid) => `ses_${ulid}`),
  turnId: ULID.map((ulid) => `trn_${ulid}`),
});

describe('ids of tasks', () => {
  it('name their turn to its user, at every edge with the same secret', () => {
    fc.assert(
      fc.property(TURN, (turn) => {
        const id = taskIdOf(derive, USER, turn);
        expect(id).toMatch(/^[\x21-\x7e]{1,128}$/);
        expect(turnOfTask(createKeyDeriver('a secret of the services'), USER, id)).toEqual(turn);
      }),
    );
  });

  it('name no turn to another user, with another secret, and when any character differs', () => {
    const other = createKeyDeriver('another secret of the services');
    fc.assert(
      fc.property(TURN, fc.nat(), fc.stringMatching(/^[\w-]$/), (turn, position, character) => {
        const id = taskIdOf(derive, USER, turn);
        expect(turnOfTask(derive, 'usr_01ARZ3NDEKTSV4RRFFQ69G5FAW', id)).toBeUndefined();
        expect(turnOfTask(other, USER, id)).toBeUndefined();
        const at = position % id.length;
        const altered = id.slice(0, at) + character + id.slice(at + 1);
        if (altered !== id) expect(turnOfTask(derive, USER, altered)).toBeUndefined();
      }),
    );
  });

  it('are not found in any other text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(turnOfTask(derive, USER, text)).toBeUndefined();
      }),
    );
  });
});
