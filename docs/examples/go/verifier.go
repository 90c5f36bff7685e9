// Verifies access tokens of the authentication and account service, and refuses revoked ones within a second.
package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

const (
	leeway      = 5 * time.Second
	interval    = 250 * time.Millisecond
	present     = time.Second
	keysFresh   = 300 * time.Second
	keysStale   = time.Hour
	keysGap     = time.Second
	longestText = 16 << 20
	longestLife = 86_400 // Seconds that a token lives at most, whatever the issuer says.
)

var (
	// ErrInvalid is answered with 401 and IAD_JWT_ACCESS_INVALID.
	ErrInvalid = errors.New("IAD_JWT_ACCESS_INVALID")
	// ErrExpired is answered with 401 and IAD_JWT_ACCESS_EXPIRED.
	ErrExpired = errors.New("IAD_JWT_ACCESS_EXPIRED")
	// ErrStepUp is answered with 401 and ERR-STEP-UP-REQUIRED: the token is good, but its proof is too old or too weak.
	ErrStepUp = errors.New("ERR-STEP-UP-REQUIRED")
	// ErrUnavailable says that nobody knows: it is answered with 503.
	ErrUnavailable = errors.New("ERR-DEPENDENCY-UNAVAILABLE")
)

// Claims of an access token.
type Claims struct {
	jwt.RegisteredClaims
	UserID      string `json:"user_id"`
	HomeGroupID string `json:"home_group_id"`
	Session     string `json:"sid"`
	Version     *int64 `json:"ver"`
	AuthTime    *int64 `json:"auth_time"`
	Level       string `json:"acr"`
}

// Requirements of a route that needs more than a good token. The zero value requires nothing.
type Requirements struct {
	MaxAge int64  // Seconds since the user's last proof.
	Level  string // "2": two factors.
}

// levels of a proof. A token without one is of a login by password. Any other level is below them.
var levels = map[string]int{"": 1, "1": 1, "2": 2}

// Check returns ErrStepUp if the claims fall short.
func (r Requirements) Check(claims *Claims) error {
	isOld := r.MaxAge > 0 &&
		(claims.AuthTime == nil || *claims.AuthTime+r.MaxAge <= time.Now().Add(-leeway).Unix())
	// A level that is required but unknown refuses every token.
	isLow := r.Level != "" && (levels[r.Level] == 0 || levels[claims.Level] < levels[r.Level])
	if isOld || isLow {
		return ErrStepUp
	}
	return nil
}

// Challenge returns the value of WWW-Authenticate (RFC 9470), and the details of the body.
func (r Requirements) Challenge() (string, map[string]any) {
	challenge, details := `Bearer error="insufficient_user_authentication"`, map[string]any{}
	if r.MaxAge > 0 {
		challenge += fmt.Sprintf(`, max_age="%d"`, r.MaxAge)
		details["max_age"] = r.MaxAge
	}
	if r.Level != "" {
		challenge += fmt.Sprintf(`, acr_values="%s"`, r.Level)
		details["acr_values"] = r.Level
	}
	return challenge, details
}

type statement struct {
	jwt.RegisteredClaims
	Nonce   string           `json:"nonce"`
	Since   *string          `json:"since"`
	Cursor  string           `json:"cursor"`
	More    *bool            `json:"more"`
	Revoked []string         `json:"revoked"`
	Below   map[string]int64 `json:"below"`
}

// Verifier checks tokens and keeps a copy of what is denied. Issuer to Grace are set before Start.
type Verifier struct {
	Issuer, Audience, Address string
	Credential                func() (string, error)
	Grace                     time.Duration

	client http.Client

	keysMutex   sync.RWMutex
	keys        map[string]publicKey
	longestLife time.Duration
	known       time.Time

	asking sync.Mutex
	asked  time.Time

	listMutex          sync.RWMutex
	below, old         map[string]int64
	complete, youngest time.Time
}

// Start keeps the copy of what is denied until the context ends.
func (v *Verifier) Start(ctx context.Context) {
	v.client = http.Client{Timeout: 3 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	v.below, v.youngest, v.longestLife = map[string]int64{}, time.Now(), longestLife*time.Second
	go v.poll(ctx)
}

func (v *Verifier) poll(ctx context.Context) {
	cursor, failures := "", 0
	for ctx.Err() == nil {
		for more := true; more; {
			began := time.Now() // It has a reading of the monotonic clock.
			next, again, err := v.askFeed(ctx, cursor)
			if err != nil {
				failures++ // The copy ages, and the grace decides. Log it.
				break
			}
			cursor, more, failures = next, again, 0
			if !more {
				v.listMutex.Lock()
				v.complete = began
				v.listMutex.Unlock()
			}
		}
		v.forget()
		select {
		case <-ctx.Done():
		case <-time.After(interval << min(failures, 3)):
		}
	}
}

// Verify returns the claims, or one of the three errors.
func (v *Verifier) Verify(token string) (*Claims, error) {
	claims := &Claims{}
	if len(token) > 4096 {
		return nil, ErrInvalid
	}
	err := v.decode(token, "at+jwt", claims,
		jwt.WithAudience(v.Audience), jwt.WithExpirationRequired(), jwt.WithIssuedAt())
	if err != nil {
		return nil, err
	}
	v.keysMutex.RLock()
	longest := v.longestLife + leeway
	v.keysMutex.RUnlock()
	if claims.IssuedAt == nil || claims.ExpiresAt.Sub(claims.IssuedAt.Time) > longest || len(claims.Audience) != 1 ||
		claims.Session == "" || claims.Version == nil || claims.Subject == "" || claims.Subject != claims.UserID {
		return nil, ErrInvalid
	}
	v.listMutex.RLock()
	defer v.listMutex.RUnlock()
	if v.complete.IsZero() || time.Since(v.complete) > present+v.Grace {
		return nil, ErrUnavailable
	}
	if *claims.Version < max(v.below[claims.Session], v.old[claims.Session]) {
		return nil, ErrInvalid
	}
	return claims, nil
}

// decode checks signature, algorithm, typ and issuer. The library checks no typ by itself.
func (v *Verifier) decode(text, typ string, claims jwt.Claims, options ...jwt.ParserOption) error {
	find := func(token *jwt.Token) (any, error) {
		kid, isText := token.Header["kid"].(string)
		if token.Header["typ"] != typ || !isText {
			return nil, ErrInvalid
		}
		key, err := v.key(kid)
		if err == nil && token.Method.Alg() != key.algorithm {
			err = ErrInvalid
		}
		return key.key, err
	}
	options = append(options, jwt.WithValidMethods([]string{"ES256", "EdDSA"}), jwt.WithIssuer(v.Issuer),
		jwt.WithLeeway(leeway), jwt.WithStrictDecoding())
	_, err := jwt.ParseWithClaims(text, claims, find, options...)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrUnavailable):
		return ErrUnavailable
	case errors.Is(err, jwt.ErrTokenExpired):
		return ErrExpired
	default:
		return ErrInvalid
	}
}

// askFeed asks once, puts the answer into the copy, and returns the next cursor and whether there is more.
func (v *Verifier) askFeed(ctx context.Context, cursor string) (string, bool, error) {
	credential, err := v.Credential()
	if err != nil {
		return "", false, err
	}
	credential = strings.TrimSpace(credential)
	name, _, _ := strings.Cut(credential, ".")
	nonce, id := random(), random()
	question := map[string]string{"nonce": nonce}
	if cursor != "" {
		question["cursor"] = cursor
	}
	body, _ := json.Marshal(question)
	request, err := http.NewRequestWithContext(ctx, "POST", v.Address+"/api/v1/revocations", bytes.NewReader(body))
	if err != nil {
		return "", false, err
	}
	request.Header.Set("Authorization", "Bearer "+credential)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Request-ID", id)
	var answer struct{ Data struct{ Statement string } }
	if err := v.fetch(request, &answer); err != nil {
		return "", false, err
	}
	said := statement{}
	// Without WithIssuedAt: the nonce says how fresh it is.
	if err := v.decode(answer.Data.Statement, "revocations+jwt", &said, jwt.WithAudience("revocations:"+name)); err != nil {
		return "", false, err
	}
	isAnswer := said.Nonce == nonce && said.Since != nil && *said.Since == cursor
	if !isAnswer || said.More == nil || said.Cursor == "" || (*said.More && said.Cursor == cursor) {
		return "", false, errors.New("it answers another question")
	}
	v.listMutex.Lock()
	defer v.listMutex.Unlock()
	for _, session := range said.Revoked {
		v.below[session] = math.MaxInt64
	}
	for session, version := range said.Below {
		v.below[session] = max(version, v.below[session])
	}
	return said.Cursor, *said.More, nil
}

// forget drops denials when no token of before can be good: once to twice as late as needed.
func (v *Verifier) forget() {
	v.keysMutex.RLock()
	needed := v.longestLife + 70*time.Second
	v.keysMutex.RUnlock()
	v.listMutex.Lock()
	defer v.listMutex.Unlock()
	if time.Since(v.youngest) > needed {
		v.old, v.below, v.youngest = v.below, map[string]int64{}, time.Now()
	}
}

func random() string {
	bits := make([]byte, 16)
	if _, err := rand.Read(bits); err != nil {
		panic(err) // A nonce that can be guessed is none.
	}
	return base64.RawURLEncoding.EncodeToString(bits)
}
