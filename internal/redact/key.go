package redact

import (
	"strings"
	"unicode"
)

// sensitiveWords hide a key wherever they stand in its name.
var sensitiveWords = words(`password passwd passphrase passcode pwd secret secrets authorization
	bearer cookie cookies credential credentials jwt otp totp cvv cvc dsn htpasswd apikey apikeys
	apisecret apitoken accesskey accesstoken authtoken secretkey privatekey clientsecret
	refreshtoken sessionid sessiontoken xsrf csrf sas signingkey`)

// sensitivePairs hide a key when they stand side by side in its name.
var sensitivePairs = words(`api_key api_keys access_key access_keys private_key private_keys
	secret_key signing_key encryption_key encryption_keys master_key account_key shared_key
	service_key role_key deploy_key ssh_key pgp_key gpg_key hmac_key webhook_key license_key auth_key
	app_key application_key storage_key symmetric_key session_id session_key connection_string
	database_url connection_url recovery_code recovery_codes backup_codes security_code
	verification_code one_time pin_code card_number client_assertion saml_assertion x_auth
	proxy_auth basic_auth user_pass db_pass smtp_pass`)

// tokenCompany are words that make "token" a measure or a thing of text.
var tokenCompany = words(`max min num number count counts total limit limits used usage input output
	prompt completion cached reasoning per budget cost size type types expiry expires ttl endpoint
	url uri window estimate estimated remaining price ids length
	page next previous continuation pagination cursor sync`)

// keptEndings make a name one of a reference or a fact about a secret.
var keptEndings = words(`ref refs id ids name names type policy length hosts host expiry expires at
	ttl enabled required algorithm count hint url endpoint rotated version set present`)

// SensitiveKey reports whether a member, header or variable of this name
// usually holds a secret, however it is spelled: api_key, apiKey, X-API-Key.
// Look-alikes (max_tokens, primary_key, author, credentials_ref) do not.
func SensitiveKey(name string) bool {
	parts := splitWords(name)
	if len(parts) == 0 {
		return false
	}
	last := parts[len(parts)-1]
	if len(parts) > 1 && keptEndings[last] && !sensitivePairs[parts[len(parts)-2]+"_"+last] {
		return false
	}
	counted, token := false, false
	for i, p := range parts {
		if sensitiveWords[p] || i > 0 && sensitivePairs[parts[i-1]+"_"+p] {
			return true
		}
		counted = counted || tokenCompany[p]
		token = token || p == "token" || p == "tokens"
	}
	if token {
		return !counted
	}
	// Alone, these are secrets; in company they are mostly not.
	return len(parts) == 1 && (last == "auth" || last == "pass" || last == "pin" || last == "sid" || last == "signature")
}

// splitWords takes a name apart at punctuation and changes of case, in lower
// case: "X-APIKeyID2" gives x, api, key, id2.
func splitWords(name string) []string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			b.WriteByte(' ')
			continue
		case i > 0 && unicode.IsUpper(r) && unicode.IsLower(runes[i-1]),
			i > 0 && i+1 < len(runes) && unicode.IsUpper(r) && unicode.IsUpper(runes[i-1]) && unicode.IsLower(runes[i+1]):
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.Fields(b.String())
}

func words(list string) map[string]bool {
	set := make(map[string]bool)
	for w := range strings.FieldsSeq(list) {
		set[w] = true
	}
	return set
}
