import { describe, expect, it } from 'vitest';
import { queuedTurn } from './fake-sessions.ts';
import { dataOf, openTestRunner, script } from './runner-fixture.ts';

describe('the built-in tools', () => {
  const resultOf = async (tool: string, input: object) => {
    await using fixture = await openTestRunner();
    fixture.queueTurns(script({ tool, input }), queuedTurn('trn_1', ''));
    const journal = await fixture.waitForOutcome('trn_1');
    return dataOf(journal, 'agent.tool_result')[0];
  };

  it('return the current time', async () => {
    expect(await resultOf('current_time', {})).toMatchObject({
      output: { utc: '2026-01-01T00:00:00Z', weekday: 'Thursday' },
    });
    expect(await resultOf('current_time', { time_zone: 'America/New_York' })).toMatchObject({
      output: {
        utc: '2026-01-01T00:00:00Z',
        local: '2025-12-31T19:00:00-05:00',
        time_zone: 'America/New_York',
        weekday: 'Wednesday',
      },
    });
    expect(await resultOf('current_time', { time_zone: 'Mars/Base' })).toMatchObject({
      output: 'Unknown time zone Mars/Base. Use a name of the IANA time zone database.',
      is_error: true,
    });
  });

  it.each([
    ['0.1 + 0.2', '0.3'],
    ['(1 + 2.5) * 3 ^ 2', '31.5'],
    ['-2 ^ 2', '-4'],
    ['2 ^ 3 ^ 2', '512'],
    ['2 ^ -2', '0.25'],
    ['-7 % 3', '-1'],
    ['7.5 % 2', '1.5'],
    ['1 / 3 * 3', '1'],
    ['2 / 3', `0.${'6'.repeat(49)}7 (rounded)`],
    ['1e3 - .5', '999.5'],
    ['9007199254740993 * 3', '27021597764222979'],
    ['--5', '5'],
  ])('calculate %s', async (expression, output) => {
    expect(await resultOf('calculator', { expression })).toMatchObject({ output, is_error: false });
  });

  it.each([
    ['1 / 0', 'Division by zero.'],
    ['2 +', 'A number is missing at the end.'],
    ['(1', 'A ) is missing at the end.'],
    ['5 5', 'An operator is missing before 5.'],
    ['process.exit()', '"process.exit()" is not a number or an operator.'],
    ['9 ^ 9 ^ 9', 'The numbers become too large.'],
    ['2 ^ 0.5', 'The exponent must be a whole number.'],
    ['('.repeat(200), 'The expression is nested too deeply.'],
  ])('do not calculate %s', async (expression, output) => {
    expect(await resultOf('calculator', { expression })).toMatchObject({ output, is_error: true });
  });
});
