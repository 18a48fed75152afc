/** What each journey of a generated client observes. */
export interface JourneyResult {
  /** The text of the agent's answer, from its event. */
  answer: string;
  /** The number of agents on the first page and on the second page. */
  pages: number[];
  /** The code and the owner of the error for an unknown agent. */
  unknownAgent: string[];
  /** The status of a change with an outdated ETag, and its code. */
  outdatedChange: (string | number)[];
  /** The name of the agent after a change with its current ETag. */
  newName: string;
}

export const UNKNOWN_AGENT = 'agt_7ZZZZZZZZZZZZZZZZZZZZZZZZZ';
