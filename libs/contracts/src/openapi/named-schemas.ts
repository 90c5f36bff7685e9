import type { TSchema } from 'typebox';
import {
  AccountExportResponse,
  AccountResponse,
  ChangeAccountRequest,
  ChangePasswordRequest,
  ExportAccountRequest,
  PasswordChangedResponse,
} from '../http/account.ts';
import { ChallengeResponse, ConfirmCodeRequest, ResendCodeRequest } from '../http/challenges.ts';
import { DeletionRequest, DeletionScheduledResponse, RestoredResponse, RestoreRequest } from '../http/deletion.ts';
import {
  EmailChangedResponse,
  EmailChangeRequest,
  EmailChangeUndoneResponse,
  UndoEmailChangeRequest,
} from '../http/email-change.ts';
import { EmailVerifiedResponse } from '../http/email-verification.ts';
import { ErrorBody, ValidationErrorBody, ValidationItem } from '../http/error-body.ts';
import { AccountType } from '../http/fields.ts';
import {
  AcceptInviteRequest,
  CurrentGroupResponse,
  GroupHandedOverResponse,
  GroupMember,
  GroupRole,
  HandOverGroupRequest,
  MemberRemovedResponse,
  MembershipResponse,
  RenameGroupRequest,
  StockDeficit,
} from '../http/groups.ts';
import {
  CreateInviteRequest,
  Invite,
  InviteListResponse,
  InvitePreviewResponse,
  InviteResponse,
} from '../http/invites.ts';
import { JsonWebKey, JsonWebKeySet } from '../http/jwks.ts';
import { LoginRequest, Platform, TokenResponse } from '../http/login.ts';
import { LogoutRequest, LogoutResponse } from '../http/logout.ts';
import { ConfirmPasswordResetRequest, PasswordResetRequest, PasswordResetResponse } from '../http/password-reset.ts';
import { RefreshRequest } from '../http/refresh.ts';
import { RegisterRequest, RegisterResponse, SpaceCreationMode } from '../http/register.ts';

import {
  LogoutAllRequest,
  LogoutAllResponse,
  SessionListResponse,
  SessionRevokedResponse,
  SessionSummary,
} from '../http/sessions.ts';

/** Schemas that the document lists under a name. It refers to them wherever they occur. */
export const namedSchemas: Readonly<Record<string, TSchema>> = {
  RegisterRequest,
  RegisterResponse,
  AccountResponse,
  ChangeAccountRequest,
  ChangePasswordRequest,
  PasswordChangedResponse,
  DeletionRequest,
  DeletionScheduledResponse,
  RestoreRequest,
  RestoredResponse,
  ExportAccountRequest,
  AccountExportResponse,
  ChallengeResponse,
  ResendCodeRequest,
  ConfirmCodeRequest,
  PasswordResetRequest,
  ConfirmPasswordResetRequest,
  PasswordResetResponse,
  EmailVerifiedResponse,
  EmailChangeRequest,
  EmailChangedResponse,
  UndoEmailChangeRequest,
  EmailChangeUndoneResponse,
  LoginRequest,
  TokenResponse,
  RefreshRequest,
  LogoutRequest,
  LogoutResponse,
  SessionSummary,
  SessionListResponse,
  SessionRevokedResponse,
  LogoutAllRequest,
  LogoutAllResponse,
  CurrentGroupResponse,
  GroupMember,
  RenameGroupRequest,
  HandOverGroupRequest,
  GroupHandedOverResponse,
  AcceptInviteRequest,
  MembershipResponse,
  MemberRemovedResponse,
  CreateInviteRequest,
  Invite,
  InviteResponse,
  InviteListResponse,
  InvitePreviewResponse,
  JsonWebKeySet,
  JsonWebKey,
  AccountType,
  GroupRole,
  StockDeficit,
  SpaceCreationMode,
  Platform,
  ErrorBody,
  ValidationErrorBody,
  ValidationItem,
};
