package redact

import "strings"

// sensitiveWords are sensitive anywhere in a name.
var sensitiveWords = words(`password passwords passwd passphrase passcode pwd psw passw secret secrets authorization
	bearer cookie cookies credential credentials jwt otp totp cvv cvc dsn htpasswd apikey apikeys
	apisecret apitoken accesskey accesstoken authtoken secretkey privatekey clientsecret
	refreshtoken sessionid sessiontoken xsrf csrf sas signingkey hmac psk mnemonic hapikey
	jsessionid phpsessid sessid kubeconfig connectionstring connstr pgpassword userpass dbpass smtppass
	mailpass ftppass rootpass adminpass netrc pgpass`)

// sensitivePairs are sensitive as adjacent words of a name.
var sensitivePairs = words(`api_key api_keys access_key access_keys private_key private_keys
	secret_key signing_key encryption_key encryption_keys master_key account_key shared_key
	service_key role_key deploy_key ssh_key pgp_key gpg_key hmac_key webhook_key license_key auth_key
	app_key application_key storage_key symmetric_key session_id session_key connection_string
	subscription_key functions_key function_key integration_key admin_key server_key write_key merchant_key
	ingestion_key instrumentation_key rest_key aes_key tls_key ssl_key wep_key wpa_key decryption_key root_key
	provisioning_key activation_key vault_key unseal_key unseal_keys enrollment_key gateway_key
	database_url connection_url conn_str recovery_code recovery_codes backup_code backup_codes recovery_key
	recovery_phrase seed_phrase secret_phrase pass_phrase pass_code pass_word security_code auth_code
	authorization_code verification_code one_time pin_code otp_code mfa_code sms_code totp_code code_verifier
	device_code card_number client_assertion saml_assertion saml_response x_auth proxy_auth basic_auth http_auth
	rediscli_auth key_material user_password xi_api`)

// sensitiveAlone are sensitive as a whole name only.
var sensitiveAlone = words(`auth pass pin sid sig signature authorisation`)

// passOwners are words after which "pass" is a password.
var passOwners = words(`user db smtp ftp mail email redis mysql pg postgres admin root login proxy database http basic sql
	mongo mongodb rabbitmq ldap keystore truststore imap pop sftp ssh client account bind jdbc rpc default`)

// signers are words in the names of signatures that authorize a request.
var signers = words(`x amz goog oss cos hub webhook request hmac aws url sas svix stripe slack shopify twilio line paddle
	zoom xero dropbox sha1 sha256 api access upload s3 signed cloudfront`)

// tokenCompany are words that make "token" a measure or a unit of text.
var tokenCompany = words(`max min num number count counts total limit limits used usage input output
	prompt completion cached reasoning per budget cost size type types expiry expires ttl endpoint
	url uri window estimate estimated remaining price ids length
	page next previous prev continuation continue pagination cursor sync delta resume skip idempotency offset start
	eos bos pad unk stop special mask sep cls tokenizer filter filters encoding index position logprobs logprob`)

// tokenHolders are words before which "tokens" are secrets.
var tokenHolders = words(`access refresh api auth device push session personal registration user bot bearer csrf fcm apns
	id oauth security deploy service app my all active revoked login invite reset`)

// factBeginnings and factEndings mark names of facts about a secret, or of a reference to
// it.
var (
	factBeginnings = words(`has is are needs need requires require required num number count total max min enable enabled
		disable disabled allow allows allowed show hide supports support supported use uses can must should no without
		forgot change changed expire expired invalid missing`)
	factEndings = words(`ref refs reference references id ids uuid arn name names type types kind policy policies length host hosts
		expiry expires expire expired expiration at on by ttl enabled disabled required algorithm alg count counts number hint url urls uri
		endpoint rotated rotation version versions set present status state strength reset change changed updated created modified
		deleted revoked last date time timestamp days hours minutes seconds age min max limit limits mode method methods
		format field fields label labels description title lifetime scope scopes prefix suffix fingerprint thumbprint provider providers store
		manager source owner used usage allowed supported supports configured exists valid verified history attempts retries
		error errors message reason amount consent domain banner samesite secure httponly preference preferences notice
		issuer audience channel complexity placeholder match less rules rule template schema path paths file filename directory
		folder region size quota score hidden visible visibility category tag tags group groups list service services
		requirement requirements settings options config configuration server servers flow details event events
		accepted generation managed sharing protected prompt screen page form button link help text tooltip class
		identifier index encoding bits strategy rotator engine backend location request requests response authority
		expose exposed leak leaked check checks checked checker validator validation validity detector detection scanner scanning
		sent received delivered issued used_at ttl_seconds period interval duration threshold`)
)

// strongWords name a secret also inside longer words. Longer ones are first.
var strongWords = strings.Fields(`passphrase credentials credential passwords password apikeys privatekey secretkey accesskey
	authtoken signature passwd secrets apikey secret cookie tokens token key`)

// wholeWords are never split.
var wholeWords = words(`sha1 sha256 sha512 s3 oauth2 oauth1 base64 md5 p12 pkcs12 pkcs8 x509 utf8 ipv4 ipv6 2fa`)

// vocabulary has the words into which names are split.
var vocabulary = func() map[string]bool {
	all := words(`smtp imap pop ftp sftp ldap ssh db database mysql mariadb postgres postgresql redis mongo mongodb sql pem
		user username admin root my app application client server auth oauth access refresh id api bot web webhook hook
		github gitlab slack stripe aws azure gcp google twilio sendgrid mail email proxy wifi wireless new old current
		confirm confirmation repeat login account master service private public secret shared session security primary foreign
		partition sort routing cache idempotency object encryption signing signed hash salt plain text encrypted hashed
		csrf xsrf middleware verify verification push device registration consumer merchant license key keys board
		store ring stone note pad value values data reset temp temporary default initial token tokens of for the and`)
	for _, set := range []map[string]bool{sensitiveWords, tokenCompany, factEndings, factBeginnings, passOwners} {
		for word := range set {
			if len(word) > 2 || word == "id" || word == "db" || word == "at" {
				all[word] = true
			}
		}
	}
	for _, short := range []string{
		"pin", "sas", "age", "for", "pop", "of", "hapikey", "apikey", "apikeys", "secretkey", "privatekey", "accesskey",
		"accesstoken", "authtoken", "clientsecret", "refreshtoken", "sessiontoken", "signingkey", "apisecret", "apitoken",
	} {
		delete(all, short)
	}
	return all
}()

func words(list string) map[string]bool {
	set := make(map[string]bool)
	for w := range strings.FieldsSeq(list) {
		set[w] = true
	}
	return set
}
