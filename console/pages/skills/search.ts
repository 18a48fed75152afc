import {
  choiceParam,
  positiveIntegerParam,
  type RawSearch,
  textParam,
} from '../../parts/navigation/search-params.ts';

export const SKILL_TABS = ['files', 'versions'] as const;

/** Query parameters of the page of a skill. */
export interface SkillSearch {
  tab?: (typeof SKILL_TABS)[number] | undefined;
  /** The version whose files are shown; by default the newest one. */
  version?: number | undefined;
  /** The shown file. */
  path?: string | undefined;
  /** The compared versions. */
  from?: number | undefined;
  to?: number | undefined;
}

export const readSkillSearch = (search: RawSearch): SkillSearch => ({
  tab: choiceParam(search, 'tab', SKILL_TABS),
  version: positiveIntegerParam(search, 'version'),
  path: textParam(search, 'path'),
  from: positiveIntegerParam(search, 'from'),
  to: positiveIntegerParam(search, 'to'),
});
