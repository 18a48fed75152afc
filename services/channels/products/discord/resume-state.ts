/** A session at the gateway, up to the last committed event. */
export interface ResumeState {
  sessionId: string;
  sequence: number;
  resumeUrl: string;
}

/** The sessions of another application cannot be resumed. */
export function writeResumeState(state: ResumeState, applicationId: string): string {
  return JSON.stringify({ ...state, applicationId });
}

/** Undefined for a text that is no state of this application. */
export function readResumeState(text: string | undefined, applicationId: string): ResumeState | undefined {
  if (!text) return undefined;
  let value: Partial<ResumeState> & { applicationId?: unknown };
  try {
    value = Object(JSON.parse(text));
  } catch {
    return undefined;
  }
  const { sessionId, sequence, resumeUrl } = value;
  const isValid =
    typeof sessionId === 'string' && typeof sequence === 'number' && typeof resumeUrl === 'string';
  return isValid && value.applicationId === applicationId ? { sessionId, sequence, resumeUrl } : undefined;
}
