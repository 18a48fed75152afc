import { type CommandContext, defineCommand } from 'just-bash';

/** Replaces the library's rm, which follows links and so cannot remove a dangling link or a link to a directory. */
export const rm = defineCommand('rm', async (args, context) => {
  const names = operandsOf(args);
  const rest: string[] = [];
  for (const arg of args) {
    if (names.has(arg) && (await isLink(arg, context))) {
      await context.fs.rm(pathOf(arg, context));
      names.delete(arg);
    } else rest.push(arg);
  }
  const isDone = names.size === 0 && rest.length < args.length;
  return isDone || !context.origCommand ? { stdout: '', stderr: '', exitCode: 0 } : context.origCommand(rest);
});

/** Returns the arguments that are not options. */
function operandsOf(args: readonly string[]): Set<string> {
  const end = args.indexOf('--');
  return new Set(args.filter((arg, at) => (end >= 0 && at > end) || (at !== end && !arg.startsWith('-'))));
}

const pathOf = (name: string, { fs, cwd }: CommandContext): string => fs.resolvePath(cwd, name);

/** A trailing slash refers to the target of a link. */
async function isLink(name: string, context: CommandContext): Promise<boolean> {
  if (name.endsWith('/')) return false;
  try {
    return (await context.fs.lstat(pathOf(name, context))).isSymbolicLink;
  } catch {
    return false;
  }
}
