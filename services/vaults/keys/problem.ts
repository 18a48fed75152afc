/** Data keys are wrapped by a KMS, and no KMS is configured. The message completes the sentence "SERVICE_KMS_SOCKET …". */
export class KmsProblem extends Error {
  override readonly name = 'KmsProblem';
}
