import type { Clock } from '../../../lib/clock.ts';
import { type ASK_USER, type RESOURCE_TOOLS, TOOLS, type ToolName } from '../../../lib/tools.ts';
import type { CommandRunner } from '../sandbox-pool/run-command.ts';
import type { FilesClient } from '../workspace/workspace-client.ts';
import { createBash } from './bash/bash.ts';
import { calculator } from './calculator.ts';
import { createCurrentTime } from './current-time.ts';
import { createEditFile } from './files/edit-file.ts';
import { createListFiles } from './files/list-files.ts';
import { createReadFile } from './files/read-file.ts';
import { createWriteFile } from './files/write-file.ts';
import { createSearchFiles } from './search/search-files.ts';
import { createLoadSkill } from './skills/load-skill.ts';
import type { Tool } from './tool.ts';

interface BuiltInToolOptions {
  clock: Clock;
  files: FilesClient;
  commandLine: CommandRunner;
}

type ToolOfEveryTurn = Exclude<ToolName, typeof ASK_USER | (typeof RESOURCE_TOOLS)[number]>;

/** Returns the tools of the TOOLS table that the runner runs itself and that do not depend on the turn. */
export function builtInTools({ clock, files, commandLine }: BuiltInToolOptions): Tool[] {
  const tools: Record<ToolOfEveryTurn, Omit<Tool, 'name' | 'kind'>> = {
    current_time: createCurrentTime(clock),
    calculator,
    bash: createBash(commandLine, clock),
    read_file: createReadFile(files),
    write_file: createWriteFile(files),
    edit_file: createEditFile(files),
    list_files: createListFiles(files),
    search_files: createSearchFiles(files, clock),
    load_skill: createLoadSkill(files),
  };
  return (Object.keys(tools) as (keyof typeof tools)[]).map((name) => ({
    ...tools[name],
    name,
    kind: TOOLS[name],
  }));
}
