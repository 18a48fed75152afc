/**
 * Sums the JSON reports of vitest. Fails if a lane ran no test or skipped one.
 *
 *   node .ci/tally.mjs <report> …
 *
 * Names each failed test, because the reports of long runs may be cut. The last line reads `N passed, N failed`. Plain
 * JavaScript, for the Node of the host.
 */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

let passed = 0;
let failed = 0;
const problems = [];

for (const path of process.argv.slice(2)) {
  const lane = basename(path, '.json');
  const report = read(path);
  if (!report) {
    problems.push(`${lane}: the report is missing; the run did not finish`);
    continue;
  }
  const tests = report.testResults.flatMap((file) => file.assertionResults);
  const broken = report.testResults.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  );
  const leftOut = tests.filter((test) => test.status !== 'passed' && test.status !== 'failed');
  const count = (status) => tests.filter((test) => test.status === status).length;
  passed += count('passed');
  failed += count('failed') + broken.length;
  for (const test of tests.filter(({ status }) => status === 'failed'))
    problems.push(`${lane}: failed: ${test.fullName}: ${firstLine(test.failureMessages)}`);
  for (const file of broken) problems.push(`${lane}: ${file.name} could not be loaded: ${file.message}`);
  for (const test of leftOut) problems.push(`${lane}: skipped (${test.status}): ${test.fullName}`);
  if (tests.length === 0) problems.push(`${lane}: no test ran`);
  if (!report.success) problems.push(`${lane}: vitest reports a failure`);
}

if (process.argv.length < 3) problems.push('no report was given');
for (const problem of problems) console.log(problem);
if (problems.length > 0 || failed > 0) process.exitCode = 1;
console.log(`${passed} passed, ${failed} failed`);

function read(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

/** The first line of the first message of a failed test. */
function firstLine([message = ''] = []) {
  return message.split('\n', 1)[0];
}
