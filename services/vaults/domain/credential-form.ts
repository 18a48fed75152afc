import type { FieldProblems } from '../../../lib/field-problems.ts';
import { type BindingRules, checkBinding, type GivenBinding } from './binding.ts';
import {
  type CredentialIdentity,
  type CredentialType,
  PUBLIC_KINDS,
  type PublicMembers,
  SECRET_MEMBERS,
} from './credential.ts';
import { checkHeaderName } from './header-name.ts';
import { checkOAuthMembers } from './oauth-form.ts';
import { checkVariable, normalizeVariable } from './variable.ts';

/** A request to create a credential, without its secret. */
export interface CredentialForm extends GivenBinding {
  label: string;
  type: string;
  publicMembers: PublicMembers;
  /** The end of the access token of type oauth2. */
  expiresAt: Date | undefined;
}

export interface CredentialRules extends BindingRules {
  /** The model providers whose keys can be stored. */
  modelProviders: readonly string[];
}

const USERNAME = /^[^:\p{Cc}]*$/u;

/** Whether the text is a type whose credentials can be created. */
export function isCredentialType(type: string): type is CredentialType {
  return Object.hasOwn(SECRET_MEMBERS, type);
}

/**
 * Returns the members that never change, as they are stored. Adds each problem to `problems`; the result is undefined when
 * there is any.
 */
export function readIdentity(
  form: CredentialForm,
  rules: CredentialRules,
  problems: FieldProblems,
): CredentialIdentity | undefined {
  const { type } = form;
  if (!isCredentialType(type)) {
    problems.oneOf('/type', type, Object.keys(SECRET_MEMBERS));
    return undefined;
  }
  const publicMembers = normalizePublic(form.publicMembers);
  if (publicMembers?.$case !== PUBLIC_KINDS[type]) {
    problems.add('/type', 'must be the type of the other members');
    return undefined;
  }
  checkPublic(publicMembers, rules, problems);
  if (form.expiresAt !== undefined && type !== 'oauth2')
    problems.add('/expires_at', `must be absent for the type ${type}`);
  return { type, ...checkBinding(type, form, rules, problems), publicMembers };
}

export function checkLabel(label: string, problems: FieldProblems): void {
  problems.characters('/label', label, 0, 200);
}

function normalizePublic(members: PublicMembers): PublicMembers {
  if (members?.$case !== 'environmentVariable') return members;
  return { $case: members.$case, value: normalizeVariable(members.value) };
}

function checkPublic(members: PublicMembers, rules: CredentialRules, problems: FieldProblems): void {
  const { modelProviders } = rules;
  if (members?.$case === 'header') checkHeaderName('/name', members.value.name, problems);
  if (members?.$case === 'basic') checkUsername(members.value.username, problems);
  if (members?.$case === 'oauth') checkOAuthMembers(members.value, rules, problems);
  if (members?.$case === 'environmentVariable') checkVariable(members.value, problems);
  if (members?.$case === 'modelKey') problems.oneOf('/provider', members.value.provider, modelProviders);
}

function checkUsername(username: string, problems: FieldProblems): void {
  problems.characters('/username', username, 1, 256);
  if (!USERNAME.test(username))
    problems.add('/username', 'must contain neither a colon nor control characters');
}
