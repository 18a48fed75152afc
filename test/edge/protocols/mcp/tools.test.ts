import { describe, expect, it } from 'vitest';
import { TOOLS } from '../../../../edge/protocols/mcp/tools.ts';

describe('the definitions of MCP tools', () => {
  // One other character makes `JSON.stringify` and the socket handle the whole list in two bytes per character.
  it.each(TOOLS.map(({ definition }) => [definition.name, definition] as const))(
    '%s has ASCII characters only',
    (_, definition) => {
      expect(JSON.stringify(definition)).toMatch(/^[\x20-\x7e]*$/);
    },
  );
});
