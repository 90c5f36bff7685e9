package app

import com.google.gson.Gson
import org.openapitools.client.apis.SessionsApi
import org.openapitools.client.infrastructure.ClientException
import org.openapitools.client.models.AccountDeletionScheduledErrorBody
import org.openapitools.client.models.AccountDisabledErrorBody
import org.openapitools.client.models.EmailNotVerifiedErrorBody
import org.openapitools.client.models.LogInForbiddenErrorBody
import org.openapitools.client.models.LoginRequest

/** Login as an app writes it: no request id at the call, and an error's body of its own type. */
fun logIn(api: SessionsApi, email: String, password: String): String =
    try {
        api.logIn(LoginRequest(email = email, password = password)).data.accessToken
    } catch (refused: ClientException) {
        "${refused.statusCode}"
    }

fun adviceOf(forbidden: LogInForbiddenErrorBody): String =
    when (val body = forbidden.actualInstance) {
        is AccountDeletionScheduledErrorBody -> body.details.deletesAt
        is EmailNotVerifiedErrorBody -> body.details.challengeId
        is AccountDisabledErrorBody -> body.details.action
        else -> Gson().toJson(body)
    }
