import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const MODULE = new URL('../../../services/bootstrap/young-generation.ts', import.meta.url).href;
const SCRIPT = `
import { getHeapSpaceStatistics } from 'node:v8';
import { letYoungGenerationGrow, limitYoungGeneration } from ${JSON.stringify(MODULE)};

const mib = () => getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size / 2 ** 20;
function allocate() {
  for (let round = 0; round < 20; round++) {
    const kept = [];
    for (let index = 0; index < 100_000; index++) kept.push({ index, values: [index] });
  }
}
limitYoungGeneration();
allocate();
const limited = mib();
letYoungGenerationGrow();
allocate();
console.log(JSON.stringify({ limited, grown: mib() }));
`;

describe('the young generation of V8', () => {
  it('stays small during the start and grows under load afterwards', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', SCRIPT]);
    const { limited, grown } = JSON.parse(stdout) as { limited: number; grown: number };
    expect(limited).toBeLessThan(8);
    expect(grown).toBeGreaterThan(16);
  });
});
