import { describe, expect, it } from 'vitest';
import { chooseCredential, type LendableCredential } from '../../../../services/vaults/domain/lending.ts';

type Text = `${'active' | 'refused' | 'disabled'} ${string}`;

/** Credentials by state and id. A disabled one can have been refused, too. */
const credentials = (texts: readonly Text[]): LendableCredential[] =>
  texts.map((text) => {
    const [state = '', credentialId = ''] = text.split(' ');
    return {
      credentialId,
      isUsable: state !== 'disabled',
      status: state === 'active' ? 'active' : 'refused',
    };
  });

/** `<source> <id>` of the chosen credential, or `<reason> <id> <who>`. */
function choose(authorization: string, personal: readonly Text[], shared: readonly Text[]): string {
  const candidates = { personal: credentials(personal), shared: credentials(shared) };
  const choice = chooseCredential(authorization, candidates);
  return choice.kind === 'found'
    ? `${choice.source} ${choice.credential.credentialId}`
    : `${choice.reason} ${choice.credentialId} ${choice.who}`;
}

describe('chooseCredential', () => {
  it.each<[string, Text[], Text[], string]>([
    ['shared', [], [], 'none  administrator'],
    ['shared', ['active p'], [], 'none  administrator'],
    ['shared', ['active p'], ['active a', 'active b'], 'shared a'],
    ['shared', [], ['disabled a', 'active b'], 'shared b'],
    ['shared', [], ['disabled a', 'disabled b'], 'disabled a administrator'],
    ['shared', [], ['refused a', 'active b'], 'refused a administrator'],
    ['personal', [], ['active a'], 'not_connected  you'],
    ['personal', ['active p'], ['active a'], 'personal p'],
    ['personal', ['refused p'], ['active a'], 'refused p you'],
    ['personal', ['disabled p'], ['active a'], 'disabled p administrator'],
    ['any', [], [], 'not_connected  you'],
    ['any', ['active p'], ['active a'], 'personal p'],
    ['any', [], ['active a'], 'shared a'],
    ['any', ['disabled p'], ['active a'], 'shared a'],
    ['any', ['refused p'], ['active a'], 'refused p you'],
    ['any', [], ['refused a', 'active b'], 'refused a administrator'],
    ['any', ['disabled p'], ['disabled a'], 'disabled p administrator'],
    ['none', ['active p'], ['active a'], 'none  administrator'],
  ])('with %s, personal %j and shared %j it returns %s', (authorization, personal, shared, expected) => {
    expect(choose(authorization, personal, shared)).toBe(expected);
  });
});
