/**
 * Reporter of vitest that names all failed tests in a line each, before the default reporter prints their errors at
 * length: a report that is cut after the first error still names the others.
 */
export default class FailedTests {
  onTestRunEnd(modules) {
    for (const module of modules)
      for (const test of module.children.allTests('failed')) {
        const [error] = test.result().errors;
        const message = String(error?.message ?? '').split('\n', 1)[0];
        console.log(`failed: ${module.relativeModuleId}: ${test.fullName}: ${message}`);
      }
  }
}
