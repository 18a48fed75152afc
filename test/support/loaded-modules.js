/**
 * With `--import`, writes what the program has loaded to the file in TEST_LOADED_MODULES when it exits, one a line: the URLs of
 * all modules, and the names of Node's own. This file is JavaScript, so that it needs no compiler.
 */
import { writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

const urls = [];
registerHooks({
  load(url, context, nextLoad) {
    urls.push(url);
    return nextLoad(url, context);
  },
});
process.on('exit', () => {
  const own = process.moduleLoadList.map((name) => name.replace('NativeModule ', ''));
  writeFileSync(process.env.TEST_LOADED_MODULES ?? '', [...urls, ...own].join('\n'));
});
